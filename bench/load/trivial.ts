import { App, us_socket_local_port } from 'uWebSockets.js';

/** A server that takes a body and does nothing with it: what the load program is held against. Says its port to whoever started it. */
const BODY = JSON.stringify({ id: '01890000-0000-7000-8000-000000000000', filler: 'x'.repeat(700) });

App()
  .any('/*', (res) => {
    res.onAborted(() => {});
    res.onData((_, isLast) => {
      if (isLast)
        res.cork(() => res.writeStatus('202 Accepted').writeHeader('content-type', 'application/json').end(BODY));
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket) process.send?.(us_socket_local_port(socket));
    else process.exit(1);
  });
process.once('disconnect', () => process.exit());
