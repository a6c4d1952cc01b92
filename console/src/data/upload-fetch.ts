// `fetch` says nothing about how much of an upload has gone out, XMLHttpRequest does. This one behaves like `fetch` for the client.

export function uploadFetch(onProgress: (fraction: number) => void): typeof fetch {
  return (input, init) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open(init?.method ?? 'GET', input instanceof Request ? input.url : String(input))
      for (const [name, value] of new Headers(init?.headers)) request.setRequestHeader(name, value)
      request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
      request.onload = () => resolve(new Response(request.responseText || null, { status: request.status }))
      request.onerror = () => reject(new TypeError('The connection broke.'))
      request.onabort = () => reject(init?.signal?.reason ?? new DOMException('Aborted', 'AbortError'))
      init?.signal?.addEventListener('abort', () => request.abort(), { once: true })
      request.send((init?.body ?? null) as XMLHttpRequestBodyInit | null)
    })
}
