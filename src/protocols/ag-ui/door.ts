import type { ServedDoor } from '../shared/served-door.ts'
import { agUiErrorShape } from './error-shape.ts'
import type { AgUiRoutesDeps } from './routes.ts'

export const agUiDoor: ServedDoor<AgUiRoutesDeps> = {
  // The empty one: `POST /` belongs to AG-UI.
  segments: ['', 'awp', 'agents', 'capabilities', 'copilotkit'],
  errorShape: agUiErrorShape,
  errors: { 'AG-UI': [{ shape: agUiErrorShape }], CopilotKit: [{ shape: agUiErrorShape }] },
  own: ['', 'agents/', 'awp', 'capabilities', 'copilotkit', 'invocations', 'ping'],
  async routes(needs) {
    const [{ createAgUiRoutes }, { createCopilotKitRoutes }, { createAgentCoreRoutes }] = await Promise.all([
      import('./routes.ts'),
      import('./copilotkit/routes.ts'),
      import('./agent-core/routes.ts'),
    ])
    return [...createAgUiRoutes(needs), ...createCopilotKitRoutes(needs), ...createAgentCoreRoutes(needs)]
  },
}
