"""Training on several devices and tasks."""
