"""What routes of the API are made of: for the hub, and for formats that add some."""
