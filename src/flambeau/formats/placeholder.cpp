namespace flambeau {}
