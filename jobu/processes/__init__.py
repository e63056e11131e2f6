"""What every long-running jobu process shares: loop, heartbeat, wake-ups, shutdown, supervision."""
