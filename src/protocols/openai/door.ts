import type { ServedDoor } from '../shared/served-door.ts'
import type { OpenAiDeps } from './answer-run.ts'
import { ErrorBodySchema, openAiErrorShape } from './error-shape.ts'

export const openAiDoor: ServedDoor<OpenAiDeps> = {
  segments: ['v1'],
  errorShape: openAiErrorShape,
  errors: { OpenAI: [{ shape: openAiErrorShape, schema: ErrorBodySchema }] },
  own: ['v1'],
  routes: async (needs) => (await import('./routes.ts')).createOpenAiRoutes(needs),
}
