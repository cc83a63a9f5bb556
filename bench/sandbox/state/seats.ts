/** What a seat on the recruiter side may work under. The same for every seat. */
export const CONTRACTS = [
  { contractId: '4001', contractName: 'Northwind Hiring' },
  { contractId: '4002', contractName: 'Northwind Executive Search' },
] as const;
export type Contract = (typeof CONTRACTS)[number];

/** Which contract each session has chosen. */
export class Seats {
  readonly #chosen = new Map<string, Contract>();
  readonly #fresh = new Set<string>();

  contractOf(token: string): Contract | undefined {
    return this.#chosen.get(token);
  }

  /** Marks a choice that no search has proven yet: the first one still belongs to the choice. */
  markFresh(token: string): void {
    this.#fresh.add(token);
  }

  isFresh(token: string): boolean {
    return this.#fresh.has(token);
  }

  proven(token: string): void {
    this.#fresh.delete(token);
  }

  apply(token: string, contractId: string): void {
    const contract = CONTRACTS.find((other) => other.contractId === contractId);
    if (contract !== undefined) this.#chosen.set(token, contract);
  }

  applyRenewed(token: string, renewed: string): void {
    const contract = this.#chosen.get(token);
    if (contract !== undefined) this.#chosen.set(renewed, contract);
    if (this.#fresh.has(token)) this.#fresh.add(renewed);
    this.applyEnded(token);
  }

  applyEnded(token: string): void {
    this.#chosen.delete(token);
    this.#fresh.delete(token);
  }
}
