"""{{feature}}."""
