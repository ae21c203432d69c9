"""Link previews of matches: the pictures that other sites show beside a link."""
