import { useMemo } from 'preact/hooks';

/** Characters of a text, and of all of it, that are shown: a result may be a file of many megabytes, which no page can lay out. */
const SHOWN = { text: 4000, all: 100_000 };
/** Of a text that is cut: enough to see what it is. */
const BEGINNING = 120;

interface JsonProps {
  value: unknown;
  label: string;
  /** The name that what is downloaded is saved under; without one nothing is offered. */
  file?: string;
}

/** Data as text; a long one scrolls, by keyboard too. What is too long to be shown is cut with its size, and downloaded. */
export function Json({ value, label, file }: JsonProps) {
  const { text, cut } = useMemo(() => shownOf(value), [value]);
  const bytes = useMemo(() => fileIn(value), [value]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section class="json" tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      {file !== undefined && (cut || bytes !== null) && (
        <div class="actions">
          {bytes !== null && (
            <button type="button" onClick={() => save(fromBase64(bytes), `${file}.bin`)}>
              Download the file ({sized((bytes.length * 3) / 4)})
            </button>
          )}
          {cut && (
            <button type="button" onClick={() => save(JSON.stringify(value, null, 2), `${file}.json`)}>
              Download all of it as JSON
            </button>
          )}
        </div>
      )}
    </>
  );
}

function shownOf(value: unknown): { text: string; cut: boolean } {
  let cut = false;
  const short = (_: string, one: unknown) => {
    if (typeof one !== 'string' || one.length <= SHOWN.text) return one;
    cut = true;
    return `${one.slice(0, BEGINNING)}… (${sized(one.length)} in all)`;
  };
  const text = JSON.stringify(value, short, 2);
  if (text.length <= SHOWN.all) return { text, cut };
  return { text: `${text.slice(0, SHOWN.all)}\n… (${sized(text.length)} in all)`, cut: true };
}

/** The bytes of a file that is a result. */
function fileIn(value: unknown): string | null {
  const { data_base64 } = (value ?? {}) as { data_base64?: unknown };
  return typeof data_base64 === 'string' ? data_base64 : null;
}

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

/** Of no type that a browser opens: what is in it comes from others. */
function save(content: BlobPart, name: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

function sized(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} bytes`;
  return bytes < 1_048_576 ? `${NUMBER.format(bytes / 1024)} KiB` : `${NUMBER.format(bytes / 1_048_576)} MiB`;
}
