import type { DeclaredDoor } from '../../domain/settings/door.ts'

export const agUi = {
  name: 'ag-ui',
  title: 'AG-UI',
  home: ['POST /', 'AG-UI; /copilotkit is the runtimeUrl of CopilotKit'],
  banner: ({ url }) => [`${url}/`, ['CopilotKit', `${url}/copilotkit  (as runtimeUrl)`]],
} as const satisfies DeclaredDoor
