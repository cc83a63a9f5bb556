import type { Member } from '../data/members.js';
import { SeededRandom } from '../data/seeded-random.js';
import { SENTENCES } from '../data/words.js';
import { html } from '../http/answer.js';
import type { Route } from '../http/exchange.js';
import { escaped, page } from '../http/markup.js';
import { shownMember } from '../state/identity.js';
import type { State } from '../state/state.js';

/** The page a signed-in browser starts from: its header holds the identity of the session. */
export function feedRoutes(state: State): Route[] {
  return [
    {
      method: 'GET',
      path: '/feed',
      access: 'page',
      // The load that follows a sign-in belongs to it; every later one checks the session.
      capabilities: (exchange) => [
        state.sessions.isFresh(exchange.session?.token ?? '') ? 'social.login' : 'social.health.check',
      ],
      answer: (exchange) => {
        state.sessions.feedSeen(exchange.session?.token ?? '');
        const { csrf } = exchange.session ?? { csrf: '' };
        return html(200, feedPage(shownMember(state, exchange.viewer), csrf));
      },
    },
  ];
}

/** Leaves something in localStorage, so that a session is more than its cookies. */
const DEVICE_SCRIPT = `if (localStorage.getItem('sn.device') === null) {
  localStorage.setItem('sn.device', JSON.stringify({ deviceId: crypto.randomUUID(), firstSeenAt: Date.now() }));
}`;

function feedPage(member: Member, csrf: string): string {
  const random = new SeededRandom('feed', member.hashId);
  const posts = Array.from({ length: 8 }, (_, number) => {
    const text = `${random.pick(SENTENCES)} ${random.pick(SENTENCES)}`;
    return `<article class="post" data-post-id="${number + 1}"><p>${escaped(text)}</p></article>`;
  });
  return page(
    'feed',
    'Feed',
    `<header id="identity" data-hash-id="${member.hashId}" data-public-id="${member.publicId}" data-member-id="${member.memberId}">
  <span class="identity-name">${escaped(`${member.firstName} ${member.lastName}`)}</span>
  <span class="identity-headline">${escaped(member.headline)}</span>
</header>
<form id="logout-form" method="post" action="/logout"><input type="hidden" name="csrf" value="${escaped(csrf)}"><button>Sign out</button></form>
<main id="feed">
${posts.join('\n')}
</main>
<script>${DEVICE_SCRIPT}</script>`,
  );
}
