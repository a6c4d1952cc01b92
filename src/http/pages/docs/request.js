// The request that a completed form describes, for `fetch` and for curl. Pure.

/**
 * `values` are the texts of the parameters by `${in} ${name}`; `body` is JSON text, or a list of `[name, text or file]` for a form.
 * The URL is relative to the server's address, which may have a path.
 */
export function requestOf(operation, { values, accept = '', type = '', body, token = '' }) {
  const headers = {}
  const query = new URLSearchParams()
  let target = operation.path
  for (const { in: place, name, schema = {} } of operation.parameters) {
    const value = values.get(`${place} ${name}`) ?? ''
    if (place === 'path') target = target.replace(`{${name}}`, pathOf(value, name))
    else if (value === '') continue
    else if (place === 'header') headers[name] = value
    else for (const one of schema.type === 'array' ? value.split(/[\s,]+/) : [value]) query.append(name, one)
  }
  if (accept !== '') headers.Accept = accept
  if (typeof body === 'string' && body !== '') headers['Content-Type'] = type
  if (token !== '') headers.Authorization = `Bearer ${token}`
  const search = query.size === 0 ? '' : `?${query}`
  return { method: operation.method, url: target.slice(1) + search, headers, body: body === '' ? undefined : body }
}

/** A parameter called `path` is all the rest of the path. */
const pathOf = (value, name) =>
  name === 'path' ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)

/** For a shell. A token is named and not shown: screens and histories are read by others. */
export function curlOf({ method, url, headers, body }, base) {
  const parts = [
    method === (body === undefined ? 'GET' : 'POST') ? 'curl' : `curl -X ${method}`,
    quoted(new URL(url, base).href),
    ...Object.entries(headers).map(([name, value]) =>
      name === 'Authorization' ? '-H "Authorization: Bearer $TOKEN"' : `-H ${quoted(`${name}: ${value}`)}`,
    ),
    ...(Array.isArray(body)
      ? body.map(([name, value]) => `-F ${quoted(`${name}=${typeof value === 'string' ? value : `@${value.name}`}`)}`)
      : body === undefined
        ? []
        : [`-d ${quoted(body)}`]),
  ]
  const [command = '', address = '', ...options] = parts
  return [`${command} ${address}`, ...options].join(' \\\n  ')
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`
