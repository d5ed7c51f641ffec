"""The explorer: an experiment as one page that computes, without a server."""
