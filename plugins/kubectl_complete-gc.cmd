@rem kubectl looks for an executable of this name on the PATH when it completes the arguments of kubectl gc.
@kubectl-gc.exe __complete %*
