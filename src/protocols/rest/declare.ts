import type { DeclaredDoor } from '../../domain/settings/door.ts'

export const rest = {
  name: 'rest',
  title: 'REST',
  home: ['POST /chat', 'REST'],
  banner: ({ url }) => [`${url}/chat`, `${url}/agent/{name}/chat`],
} as const satisfies DeclaredDoor
