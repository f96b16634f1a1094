"""A fitted model as an HTTP service: `coview serve`, or `coview.serving.server.serve`."""
