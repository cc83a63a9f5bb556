import { useEffect, useState } from 'preact/hooks';

let tell: (text: string) => void = () => {};

/** Has it read out to those who do not see what has changed, when they have heard what is being read. */
export const announce = (text: string): void => tell(text);

/** The one place that reads out what is announced: it stands before there is anything, because a new one would be silent. */
export function Announced() {
  const [{ text, count }, set] = useState({ text: '', count: 0 });
  useEffect(() => {
    tell = (said) => set((was) => ({ text: said, count: was.count + 1 }));
    return () => {
      tell = () => {};
    };
  }, []);
  return (
    <p class="unseen" role="status" aria-label="Done">
      {/* Of the same text another element, which is read out again. */}
      <span key={count}>{text}</span>
    </p>
  );
}
