import type { Force } from './force.js';

/** What an attack begins with, and what is put in place for it. */
export interface Ground<Things> {
  things: Things;
  /** What there is to know of how it was set up; empty when all is as the attack's `means` says. */
  note?: string;
}

/** One way to do the service harm. All of it runs in the attacker's process. */
export interface Attack {
  name: string;
  means: string;
  /** Puts in place what is attacked with, before anything is measured. `rows`: how long a long history is. */
  prepare(force: Force, rows: number): Promise<Ground<unknown>>;
  /** Goes on until `force.isOver`. */
  attack(force: Force, things: never): Promise<void>;
  /** Takes away what would go on by itself. */
  clear?(force: Force, things: never): Promise<void>;
}

/** An attack whose steps share the type of what was put in place. */
export function defineAttack<Things>(
  attack: Omit<Attack, 'prepare' | 'attack' | 'clear'> & {
    prepare(force: Force, rows: number): Promise<Ground<Things>>;
    attack(force: Force, things: Things): Promise<void>;
    clear?(force: Force, things: Things): Promise<void>;
  },
): Attack {
  return attack;
}

/** For attacks that need nothing. */
export const nothing = async (): Promise<Ground<null>> => ({ things: null });
