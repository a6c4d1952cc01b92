import { problemShape } from '../../http/problem.ts'
import type { ServedDoor } from '../shared/served-door.ts'
import type { ThreadRoutesDeps } from './answer-chat.ts'
import { threadErrorShape } from './error-shape.ts'

export const threadsDoor: ServedDoor<ThreadRoutesDeps> = {
  segments: ['threads', 'tool_result'],
  errorShape: threadErrorShape,
  errors: {
    'Chat and threads': [{ shape: problemShape }, { shape: threadErrorShape }],
    // OpenAPI lists `POST /chat`, which REST has too, under this tag.
    'Chat and sessions': [{ shape: threadErrorShape }],
  },
  own: ['chat', 'threads', 'tool_result'],
  routes: async (needs) => (await import('./routes.ts')).createThreadRoutes(needs),
}
