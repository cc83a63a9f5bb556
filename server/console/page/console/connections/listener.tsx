import '../kit/pictures.css';
import type { ConnectionJson } from '../../../../routes/connections/connection-json.js';
import type { ListenerJson } from '../../../../routes/connections/listener.js';
import { useLoaded } from '../kit/loaded.js';
import type { PageProps } from '../kit/page-props.js';
import { Badge, Facts, Problem, Time } from '../kit/parts.js';
import { CONTINUITY, STREAMS } from '../words/connection-words.js';
import { spoken } from '../words/operation-words.js';
import { Gaps } from './gaps.js';

/** How the event stream of a connection stands, and when it was interrupted. */
export function Listener({ api, id = '', live, connection }: PageProps & { connection: ConnectionJson }) {
  const load = () => api.get<ListenerJson>(`/v1/connections/${id}/listener`);
  const { value: listener, error, again } = useLoaded(load, [api, id], live, 'connections');
  if (!listener) return <Problem error={error} again={again} />;
  const [streamTone, stream] = STREAMS[listener.stream_status];
  const [tone, continuity] = CONTINUITY[listener.continuity_status];
  return (
    <>
      <h2>Event stream</h2>
      <Facts
        rows={[
          ['Stream', <Badge key="stream" tone={streamTone} text={stream} />],
          ['Continuity', <Badge key="continuity" tone={tone} text={continuity} />],
          ['Because', listener.reason && spoken(listener.reason)],
          ['Last heard from', <Time key="frame" at={listener.last_frame_at} />],
          ['Known to be whole', <Time key="confirmed" at={listener.last_confirmed_at} />],
          ['Last event', <Time key="event" at={listener.last_event_at} />],
        ]}
      />
      {listener.gaps.length > 0 && <Gaps {...{ listener, connection }} />}
    </>
  );
}
