import type { ClientToolSettings } from '../../domain/tool-settings.ts'
import type { ClientTool } from '../tool.ts'
import { toolDescription } from '../tool-description.ts'

/** The `client` kind: declared here, run by whoever talks to the agent. */
export const createClientTool = (settings: ClientToolSettings): ClientTool => ({
  location: 'client',
  ...toolDescription(settings),
})
