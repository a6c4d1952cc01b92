/** Our names of providers in the words of OpenTelemetry. Others are used as they are. */
const NAMES = new Map([
  ['google', 'gcp.gemini'],
  ['gemini', 'gcp.gemini'],
  ['azure', 'azure.ai.openai'],
  ['azure_openai', 'azure.ai.openai'],
])

export const providerName = (provider: string): string => NAMES.get(provider) ?? provider
