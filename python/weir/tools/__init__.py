"""What moves models on: graphs with their variables as constants, and cut down to what predicting needs."""
