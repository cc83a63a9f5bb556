/** What binds each sealed value to its place: a value copied to another row does not open. */
export const inputContext = (operationId: string): string => `operation/${operationId}/input`;
export const resultContext = (operationId: string): string => `operation/${operationId}/result`;
export const lookContext = (operationId: string): string => `operation/${operationId}/look`;
export const filePartContext = (operationId: string, attemptId: string, part: number): string =>
  `operation/${operationId}/file/${attemptId}/${part}`;
export const eventDataContext = (eventId: string): string => `event/${eventId}/data`;
export const sessionContext = (connectionId: string): string => `connection/${connectionId}/session`;
export const passwordContext = (connectionId: string): string => `connection/${connectionId}/password`;
export const subscriptionSecretContext = (subscriptionId: string): string => `subscription/${subscriptionId}/secret`;
export const callbackUrlContext = (subscriptionId: string): string => `subscription/${subscriptionId}/callback_url`;
export const proxyCredentialsContext = (proxyId: string): string => `proxy/${proxyId}/credentials`;
/** The secret that hashes requests; the installation has one. */
export const fingerprintContext = 'installation/fingerprint_secret';
/** A challenge code on its way to another node. */
export const codeContext = (challengeId: string): string => `challenge/${challengeId}/code`;
