import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * The native part of the front end comes in a repack of another project's release (the operator's page, "Where the front end's
 * binary comes from"). The lock file's hash holds what was downloaded; these hold what is loaded, however it came to its place.
 */

/** SHA-256 of the binaries of uws-pack 20.0.8 that Node 22 loads, by the platform, architecture and ABI in their names. */
const SHA256: Readonly<Record<string, string>> = {
  darwin_arm64_127: 'abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be',
  darwin_x64_127: 'afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387',
  linux_arm64_127: 'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
  linux_arm_127: '0e1d4024b629a1fe17ec76cde8fe7e320101eb8bdcf7b2c4086933932e3cea23',
  linux_x64_127: '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
  win32_x64_127: '585d6ee2dbfc750b1d5a59e6ceaef8a977e90ef3e298a82821d58b41cd72a8c0',
};

/** The folder of the binaries of an installed front end. */
export const BINARIES = join(dirname(fileURLToPath(import.meta.resolve('uWebSockets.js'))), 'bin');

/** The binary is not the one that this version was made with. */
export class UnknownBinary extends Error {}

/**
 * Throws `UnknownBinary`, in one line, when the binary that this Node would load is not the recorded one. It is called before the library is
 * loaded: what is loaded has run.
 */
export function checkBinary(folder = BINARIES, sha256 = SHA256): void {
  const target = `${process.platform}_${process.arch}_${process.versions.modules}`;
  const recorded = sha256[target];
  if (!recorded) throw new UnknownBinary(`the front end has no recorded binary for ${target}: see OPERATE.md`);
  const file = join(folder, `uws_${target}.node`);
  const found = sha256Of(file);
  if (found !== recorded) {
    throw new UnknownBinary(
      `${file} is not the recorded binary (SHA-256 ${found}, recorded ${recorded}): see OPERATE.md`,
    );
  }
}

/** What is read at once: a whole binary, whose 7 MB are new memory, takes twice as long. */
const PART_bytes = 65_536;

function sha256Of(file: string): string {
  const hash = createHash('sha256');
  const part = Buffer.allocUnsafe(PART_bytes);
  const opened = openSync(file, 'r');
  try {
    for (let read = readSync(opened, part); read > 0; read = readSync(opened, part))
      hash.update(part.subarray(0, read));
  } finally {
    closeSync(opened);
  }
  return hash.digest('hex');
}
