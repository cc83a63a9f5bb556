import { ApiError } from './api.js';

/** What went wrong, in words. */
export function Problem({ error, again }: { error: unknown; again?: () => void }) {
  if (!error) return null;
  return (
    <div class="problem" role="alert">
      <p>{problemWords(error)}</p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

function problemWords(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The page failed. Load it again.';
  const places = error.details.map(({ path, expected }) => `${path}: expected ${expected}`);
  return [error.message, ...places].join(' ');
}
