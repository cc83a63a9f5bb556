/** What binds each sealed value to its place: a value copied to another row does not open. */
export const inputContext = (operationId: string): string => `operation/${operationId}/input`;
export const sessionContext = (connectionId: string): string => `connection/${connectionId}/session`;
export const passwordContext = (connectionId: string): string => `connection/${connectionId}/password`;
export const subscriptionSecretContext = (subscriptionId: string): string => `subscription/${subscriptionId}/secret`;
export const proxyCredentialsContext = (proxyId: string): string => `proxy/${proxyId}/credentials`;
/** The secret that hashes requests; the installation has one. */
export const fingerprintContext = 'installation/fingerprint_secret';
/** A challenge code on its way to another node. */
export const codeContext = (challengeId: string): string => `challenge/${challengeId}/code`;
