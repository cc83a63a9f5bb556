import t from 'tap';
import { refusalKind } from '../../../../browser-pool/social/access/endpoints.js';
import type { RefusalKind, Site } from '../../../../browser-pool/social/site/site.js';
import { socialSite } from '../../../../browser-pool/social/site/stand-in.js';
import { guildSite } from '../../../fixture/guild.js';

const SITES: [site: Site, refusal: (code: string) => object][] = [
  [socialSite({ origin: 'https://www.social.test' }), (code) => ({ error: { code } })],
  [guildSite({}), (code) => ({ fault: { reason_code: code } })],
];

for (const [site, refusal] of SITES) {
  t.test(`a refusal of ${site.origin} is known by its status and its code together`, async (t) => {
    for (const [kind, { status, code }] of Object.entries(site.refusalCodes) as [RefusalKind, Refusal][]) {
      t.equal(refusalKind(site, status, refusal(code)), kind);
      t.equal(refusalKind(site, status + 1, refusal(code)), undefined);
      t.equal(refusalKind(site, status, refusal('other')), undefined);
      for (const [, other] of SITES) {
        if (other !== refusal) t.equal(refusalKind(site, status, other(code)), undefined);
      }
      for (const strange of [undefined, null, [], {}, 'page', refusal(''), { error: code }]) {
        t.equal(refusalKind(site, status, strange), undefined);
      }
    }
  });
}

type Refusal = { status: number; code: string };
