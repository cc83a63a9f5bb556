/**
 * What a child process may know of this one's environment: where programs, folders and libraries are, language and time zone, and
 * what Chromium, fontconfig and Playwright read. Everything else stays here: a child may run what a page or a client sent, its
 * environment is readable in /proc, and this one holds ENCRYPTION_KEYS, DATABASE_URL and the gateway's secret.
 */
const PASSED = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  'FONTCONFIG_FILE',
  'FONTCONFIG_PATH',
  'FONTCONFIG_SYSROOT',
  'CHROME_DEVEL_SANDBOX',
  'PLAYWRIGHT_BROWSERS_PATH',
]);

/** Locales: LC_ALL, LC_MESSAGES, … */
const PASSED_PREFIX = 'LC_';

/**
 * The whole environment of a child process: what every child may know, further variables of this process by name (`also`), and what
 * is meant for this child (`own`). Every process that the service starts gets its environment from here.
 */
export function childEnvironment(
  own: Readonly<Record<string, string>> = {},
  also: readonly string[] = [],
): Record<string, string> {
  const passed = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (PASSED.has(entry[0]) || entry[0].startsWith(PASSED_PREFIX) || also.includes(entry[0])),
  );
  return { ...Object.fromEntries(passed), ...own };
}
