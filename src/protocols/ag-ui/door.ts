import type { ServedDoor } from '../shared/served-door.ts'
import { createAgentCoreRoutes } from './agent-core/routes.ts'
import { createCopilotKitRoutes } from './copilotkit/routes.ts'
import { type AgUiRoutesDeps, agUiErrorShape, createAgUiRoutes } from './routes.ts'

export const agUiDoor: ServedDoor<AgUiRoutesDeps> = {
  // The empty one: `POST /` belongs to AG-UI.
  segments: ['', 'awp', 'agents', 'capabilities', 'copilotkit'],
  errorShape: agUiErrorShape,
  errors: { 'AG-UI': [{ shape: agUiErrorShape }], CopilotKit: [{ shape: agUiErrorShape }] },
  routes: (needs) => [...createAgUiRoutes(needs), ...createCopilotKitRoutes(needs), ...createAgentCoreRoutes(needs)],
}
