"""What several screens of the admin use."""
