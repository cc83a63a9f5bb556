/** Where a page tries to get to past its proxy. */
export interface Escapes {
  host: string;
  port: number;
  metricsPort: number;
  /** Ends the names that a resolver would be asked for; `<way>.<zone>` tells which way asked. */
  zone: string;
}

/** A page that tries every way out of a browser that it has; `tried` of its window is true when all have been begun. */
export function leakyPage({ host, port, metricsPort, zone }: Escapes): string {
  const metrics = ['127.0.0.1', 'localhost', 'here.localhost', '[::1]', '0.0.0.0'].map(
    (name) => `${name}:${metricsPort}`,
  );
  return `<!doctype html><title>tries everything</title>
<link rel="dns-prefetch" href="//prefetch.${zone}">
<link rel="preconnect" href="https://preconnect.${zone}">
<link rel="preconnect" href="https://${host}:${port}">
<link rel="prefetch" href="https://prefetched.${zone}/">
<img src="http://image.${zone}/"><img src="https://${host}:${port}/">
${metrics.map((address) => `<img src="http://${address}/metrics"><iframe src="http://${address}/metrics"></iframe>`).join('')}
<a id="ping" href="#" ping="https://ping.${zone}/ https://${host}:${port}/ping">ping</a>
<a id="download" href="https://download.${zone}/file" download target="_blank">download</a>
<script>
const attempts = [];
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const attempt = (way) => attempts.push(Promise.race([(async () => way())().catch(() => {}), pause(4000)]));
const gathered = (connection) => new Promise((done) => {
  connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && done();
});
const rtc = async (urls) => {
  const connection = new RTCPeerConnection({ iceServers: [{ urls, username: 'u', credential: 'c' }] });
  connection.createDataChannel('out');
  await connection.setLocalDescription(await connection.createOffer());
  await Promise.race([gathered(connection), pause(3000)]);
  connection.close();
};
for (const at of ['${host}:${port}', 'rtc.${zone}:3478']) {
  for (const url of ['stun:' + at, 'turn:' + at + '?transport=udp', 'turn:' + at + '?transport=tcp', 'turns:' + at]) {
    attempt(() => rtc([url]));
  }
}
attempt(async () => {
  const connection = new RTCPeerConnection();
  connection.createDataChannel('out');
  const offer = await connection.createOffer();
  await connection.setLocalDescription(offer);
  await connection.setRemoteDescription({ type: 'answer', sdp: offer.sdp.replace('a=setup:actpass', 'a=setup:active') });
  for (const [protocol, type] of [['udp', ''], ['tcp', ' tcptype passive']]) {
    for (const name of ['${host}', 'candidate.${zone}', 'candidate.local']) {
      await connection.addIceCandidate({ sdpMid: '0', candidate:
        'candidate:1 1 ' + protocol + ' 2122260223 ' + name + ' ${port} typ host' + type }).catch(() => {});
    }
  }
  await pause(2000);
});
for (const scheme of ['ws', 'wss']) {
  for (const at of ['${host}:${port}', 'socket.${zone}', '127.0.0.1:${metricsPort}', 'localhost:${metricsPort}']) {
    attempt(() => new Promise((done) => { new WebSocket(scheme + '://' + at + '/').onerror = done; }));
  }
}
attempt(() => new WebTransport('https://${host}:${port}/').ready);
attempt(() => new WebTransport('https://transport.${zone}/').ready);
for (const at of ['https://${host}:${port}', 'https://fetch.${zone}', ${metrics.map((address) => `'http://${address}'`).join(', ')}]) {
  attempt(() => fetch(at, { mode: 'no-cors' }));
  attempt(() => navigator.sendBeacon(at, 'out'));
  attempt(() => new Promise((done) => { const source = new EventSource(at); source.onerror = () => { source.close(); done(); }; }));
}
attempt(() => navigator.serviceWorker.register('/worker.js'));
attempt(() => { document.getElementById('ping').click(); });
attempt(() => { document.getElementById('download').click(); });
attempt(() => { window.open('https://window.${zone}/'); });
Promise.all(attempts).then(() => { window.tried = true; });
</script>`;
}
