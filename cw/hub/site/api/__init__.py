"""The API: operations, their documents, and the description made of them."""
