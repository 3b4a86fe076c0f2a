import { connect, createServer, type Socket } from 'node:net';
import { database, follow, noteIn, put, stopFollowing } from '../../helpers/followed-stream.ts';
import { listen } from '../../helpers/listen.ts';

test('survives requests that are never answered', async () => {
  let isHanging = false;
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const { hostname, port } = new URL(database.endpoint);
    const onward = connect(Number(port), hostname);
    socket.on('data', (bytes) => isHanging || onward.write(bytes));
    onward.on('data', (bytes) => socket.write(bytes));
    for (const each of [socket, onward]) sockets.add(each.on('error', () => {}));
  });
  const endpoint = await listen(proxy);
  try {
    const seen: string[] = [];
    const { idle } = await follow(noteIn(seen), endpoint);
    await idle();
    const asked = new Promise((resolve) => {
      for (const socket of sockets) socket.once('data', resolve);
    });
    isHanging = true;
    await put('a');
    await asked;
    isHanging = false;
    await idle();
    expect(seen).toEqual(['a']);
  } finally {
    await stopFollowing();
    for (const socket of sockets) socket.destroy();
    proxy.close();
  }
});
