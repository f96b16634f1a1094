"""Where blocks of documents are worked on."""
