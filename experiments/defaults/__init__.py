"""What coview gives people without any setting, measured."""
