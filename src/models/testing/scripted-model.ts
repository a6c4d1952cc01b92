import { createSystemClock } from '../../domain/clock.ts'
import type { Model, ModelRequest } from '../model.ts'
import { createScriptedModel, type ScriptedOptions } from '../scripted/scripted.ts'

type Options = Pick<ScriptedOptions, 'answers'> &
  Partial<ScriptedOptions> & { onRequest?: ((request: ModelRequest) => void) | undefined }

/** `onRequest` sees what the model gets. Calls without an id are `call_1`, `call_2`, … */
export function scriptedModel({ onRequest = () => {}, ...options }: Options): Model {
  let calls = 0
  const newId = () => `call_${++calls}`
  const model = createScriptedModel({ clock: createSystemClock(), loop: false, name: 'script', newId, ...options })
  return {
    ...model,
    async stream(request, signal, take) {
      onRequest(request)
      await model.stream(request, signal, take)
    },
  }
}
