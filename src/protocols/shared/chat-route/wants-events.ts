/** Whether an Accept header asks for server-sent events. A wildcard does not: it is what curl and fetch send by themselves. */
export function wantsEvents(accept: string | undefined): boolean {
  if (accept === undefined) return false
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter))
  })
}
