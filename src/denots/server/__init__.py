"""A model behind HTTP: tables in, answers out, on Starlette and uvicorn (`pip install 'denots[serve]'`).

    request -> Guard                   guard       the token
      -> Desk                          desk        how many, how large and how long; a table from the body
      -> Served.read -> Batcher        batcher     requests that came at the same time are answered together
      -> Served.answer                 served      a loaded model that has shown that it answers
      -> body or Problem               body        JSON, CSV or NDJSON; what is wrong, in words

`live.py` answers rows as they come over one connection, `app.py` lists the routes, `keeper.py` exchanges the model while requests go on, `run.py` owns the process.
"""
