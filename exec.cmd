@rem npm start says "exec node ..." so that signals reach the server itself; Windows has no exec of its own.
@%*
