/** Counts the requests of signed-out visitors. No account has it: usernames are not blank. */
export const SIGNED_OUT = '';

/** Requests by region and account, as the site saw them come out of the regional proxies. */
export class Traffic {
  readonly #regions = new Map<string, Map<string, number>>();

  constructor(regions: readonly string[]) {
    for (const region of regions) this.#regions.set(region, new Map());
  }

  count(region: string, account: string): void {
    const accounts = this.#regions.get(region);
    accounts?.set(account, (accounts.get(account) ?? 0) + 1);
  }

  report(): { region: string; accounts: Record<string, number> }[] {
    return [...this.#regions].map(([region, accounts]) => ({ region, accounts: Object.fromEntries(accounts) }));
  }
}
