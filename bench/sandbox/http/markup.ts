const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it may stand in an element or a quoted attribute. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

/** A whole page. `name` stands in its `data-page`; `attributes` go on the body as they are. */
export function page(name: string, title: string, content: string, attributes = ''): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(title)} | Social</title><link rel="icon" href="data:,"></head>
<body data-page="${name}"${attributes}>
${content}
</body>
</html>
`;
}

export function csrfField(csrf: string): string {
  return `<input type="hidden" name="csrf" value="${escaped(csrf)}">`;
}

export function notFoundPage(): string {
  return page('not-found', 'Page not found', '<main id="not-found"><p>This page does not exist.</p></main>');
}

export function forbiddenPage(): string {
  return page('forbidden', 'Try again', '<main id="forbidden"><p>This form is no longer valid.</p></main>');
}

export function errorPage(): string {
  return page('error', 'Something went wrong', '<main id="error"><p>Something went wrong on our side.</p></main>');
}
