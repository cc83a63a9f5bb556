/** Shows the reference, and keeps the workspace key for this tab: a reload finds it, the address and other tabs never do. */

const STORED = 'workspace-key';
const field = document.getElementById('key');
field.value = sessionStorage.getItem(STORED) ?? '';

// Validation in the viewer would otherwise try whether it may make code from text, which the page's policy forbids.
globalThis.__zod_globalConfig = { jitless: true };

const viewer = document.createElement('script');
viewer.src = 'docs/viewer.js';
viewer.addEventListener('load', show);
document.head.append(viewer);

function show() {
  const reference = globalThis.Scalar.createApiReference('#reference', configuration());
  field.addEventListener('input', () => {
    if (field.value) sessionStorage.setItem(STORED, field.value);
    else sessionStorage.removeItem(STORED);
    reference.updateConfiguration(configuration());
  });
}

function configuration() {
  return {
    url: 'openapi.json',
    // Below a prefix as well: the page stands beside the routes.
    servers: [{ url: new URL('.', location.href).href.replace(/\/$/, '') }],
    authentication: {
      preferredSecurityScheme: 'workspaceKey',
      securitySchemes: { workspaceKey: { token: field.value } },
    },
    layout: 'modern',
    theme: 'default',
    hideModels: true,
    hideClientButton: true,
    documentDownloadType: 'none',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    // Nothing that asks another host, or offers to.
    withDefaultFonts: false,
    telemetry: false,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
  };
}
