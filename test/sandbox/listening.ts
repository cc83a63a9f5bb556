import { createParser } from 'eventsource-parser';
import type { Owner } from './fixture.js';
import type { Visitor } from './visitor.js';

export interface Frame {
  id: string | undefined;
  event: string | undefined;
  data: Record<string, unknown>;
}

/** An open event stream: its frames one by one, or all that is left until it ends. */
export interface Listening {
  next(): Promise<Frame>;
  rest(): Promise<Frame[]>;
}

export async function listening(owner: Owner, visitor: Visitor): Promise<Listening> {
  const headers = { accept: 'text/event-stream', 'x-csrf-token': visitor.cookies.get('sn_csrf') ?? '' };
  const { statusCode, body } = await visitor.send('/realtime', { headers });
  if (statusCode !== 200) throw new Error(`The stream did not open: ${statusCode}`);
  owner.teardown(() => body.destroy());
  body.on('error', () => {});
  const frames = framesOf(body);
  return {
    next: async () => {
      const { value, done } = await frames.next();
      if (done === true) throw new Error('The stream has ended.');
      return value;
    },
    rest: async () => {
      const left: Frame[] = [];
      for await (const frame of frames) left.push(frame);
      return left;
    },
  };
}

async function* framesOf(body: AsyncIterable<Buffer>): AsyncGenerator<Frame, void> {
  let arrived: Frame[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => arrived.push({ id, event, data: JSON.parse(data) as Frame['data'] }),
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const frames = arrived;
    arrived = [];
    yield* frames;
  }
}
