import type { ClientToolSettings } from '../domain/tool-settings.ts'
import type { ClientTool } from './tool.ts'
import { toolBinding } from './tool-binding.ts'
import { toolDescription } from './tool-description.ts'

/** The `client` kind: declared here, run by whoever talks to the agent. */
export const createClientTool = (settings: ClientToolSettings): ClientTool => ({
  location: 'client',
  ...toolDescription(settings),
  // What it does is the caller's own.
  binding: toolBinding('client', { returns: settings.returns }),
})
