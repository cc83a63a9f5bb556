/** The account and the conversation that a `conversation_urn` names (OPS-18). Called on valid input only. */
export function readConversationUrn(urn: string): { actor: string; conversationId: string } {
  const [actor = '', conversationId = ''] = urn.slice(urn.indexOf('(') + 1, -1).split(',');
  return { actor, conversationId };
}
