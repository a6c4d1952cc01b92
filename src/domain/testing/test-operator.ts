import type { OperatorSettings } from '../settings/supervision-settings.ts'

/** An operator of whom the settings say nothing but the name. */
export const testOperator = (values: Partial<OperatorSettings> & { name: string }): OperatorSettings => ({
  contacts: {},
  console: null,
  logins: [],
  local: false,
  admin: false,
  group: null,
  notify: { kinds: ['approval', 'prompt', 'wait', 'stall'], quietHours: null, digestMs: null },
  ...values,
})
