import { problemShape } from '../../http/problem.ts'
import type { ServedDoor } from '../shared/served-door.ts'
import type { AiDeps } from './answer-chat.ts'

export const aiDoor: ServedDoor<AiDeps> = {
  segments: ['ai'],
  // `useChat` shows the body of a failed request as the message of its error.
  errorShape: problemShape,
  errors: { useChat: [{ shape: problemShape }] },
  own: ['ai'],
  routes: async (needs) => (await import('./routes.ts')).createAiRoutes(needs),
}
