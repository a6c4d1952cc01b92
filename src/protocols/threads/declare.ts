import type { DeclaredDoor } from '../../domain/settings/door.ts'

export const threads = {
  name: 'threads',
  title: 'Threads',
  home: ['GET  /threads', 'threads; POST /chat with a thread_id talks to one'],
  banner: ({ url }) => [`${url}/threads`],
} as const satisfies DeclaredDoor
