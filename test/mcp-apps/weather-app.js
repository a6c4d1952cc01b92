// The app of the weather server, with the SDK's own `App`. It runs in a browser, in a page of its own (`build-page.ts`).

import { App } from '@modelcontextprotocol/ext-apps/app-with-deps'

function line(name, text) {
  const found = document.getElementById(name) ?? document.body.appendChild(document.createElement('p'))
  found.id = name
  found.textContent = text
}
const showWeather = ({ structuredContent: { city, degrees } }) => line('weather', `${degrees}° in ${city}`)
function button(name, act) {
  const made = document.body.appendChild(document.createElement('button'))
  made.textContent = name
  made.onclick = () => {
    act().then(
      (said) => line('said', JSON.stringify(said)),
      (error) => line('said', String(error)),
    )
  }
}

const app = new App({ name: 'Weather', version: '1.0.0' }, {})
app.ontoolinput = ({ arguments: { city } }) => line('input', `asked for ${city}`)
app.ontoolresult = showWeather
button('Refresh', async () => showWeather(await app.callServerTool({ name: 'refresh', arguments: { city: 'Kiel' } })))
button('Drop', () => app.callServerTool({ name: 'drop_city', arguments: { city: 'Kiel' } }))
button('Link', () => app.openLink({ url: 'https://example.org/weather' }))
button('Bad link', () => app.openLink({ url: 'javascript:alert(1)' }))
button('Ask', () => app.sendMessage({ role: 'user', content: [{ type: 'text', text: 'And tomorrow?' }] }))
await app.connect()
line('host', `shown by ${app.getHostVersion()?.name}`)
