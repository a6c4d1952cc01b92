import type { DeclaredDoor } from '../../domain/settings/door.ts'

export const openAi = {
  name: 'openai',
  title: 'OpenAI',
  home: ['POST /v1/responses', 'OpenAI’s API; /v1 is the baseURL'],
  banner: ({ url }) => [`${url}/v1  (as baseURL)`],
} as const satisfies DeclaredDoor
