import { useState } from 'preact/hooks';
import type { GateDetail, Setting } from '../wire.ts';

interface Props {
  readonly detail: GateDetail;
  readonly token: string | undefined;
}

/** The form that changes settings, shown only if the server was started with `controls`. */
export function ControlPanel({ detail, token }: Props) {
  const [answer, setAnswer] = useState('');
  const { controls, id } = detail;
  if (controls === undefined) return null;
  const send = async (action: string, settings: Record<string, number> = {}) => {
    // The same answer twice is announced twice.
    setAnswer('');
    setAnswer(await command(token, JSON.stringify({ gate: id, action, settings })));
  };
  return (
    <section aria-labelledby="controls-title">
      <h2 id="controls-title">Controls</h2>
      {token === undefined && (
        <p class="empty">
          This page was opened without its token: open the address that the program printed.
        </p>
      )}
      <div class="controls">
        {controls.settings.map((setting) => (
          <SettingForm
            key={`${id} ${setting.name}`}
            setting={setting}
            isOff={token === undefined}
            change={(value) => void send('configure', { [setting.name]: value })}
          />
        ))}
        <div class="actions">
          {controls.canPause && (
            <button
              type="button"
              disabled={token === undefined}
              onClick={() => void send(controls.isPaused ? 'resume' : 'pause')}
            >
              {controls.isPaused ? 'Resume' : 'Pause'}
            </button>
          )}
          {controls.canDrain && (
            <button
              type="button"
              class="is-grave"
              disabled={token === undefined}
              onClick={() => {
                if (confirm('Drain: it takes no new requests from now on, for good.')) {
                  void send('drain');
                }
              }}
            >
              Drain and close
            </button>
          )}
        </div>
      </div>
      <p class="quiet" role="status">
        {answer}
      </p>
    </section>
  );
}

/** Sends a command. @returns the answer in words */
async function command(token: string | undefined, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token ?? ''}` };
  try {
    const response = await fetch('control', { method: 'POST', headers, body });
    return response.ok ? 'Done.' : (await response.text()).trim();
  } catch {
    return 'The program cannot be reached.';
  }
}

interface SettingProps {
  readonly setting: Setting;
  readonly isOff: boolean;
  readonly change: (value: number) => void;
}

function SettingForm({ setting, isOff, change }: SettingProps) {
  const [text, setText] = useState<string>();
  const shown = text ?? String(setting.value);
  const isChanged = text !== undefined && text !== String(setting.value);
  return (
    <form
      class="setting"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isChanged) return;
        change(Number(shown));
        setText(undefined);
      }}
    >
      <label>
        <span>{setting.label}</span>
        <input
          type="number"
          min="1"
          step="1"
          required
          disabled={isOff}
          value={shown}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {/* Not `disabled` after it was pressed: it would lose the focus. */}
      <button
        type="submit"
        disabled={isOff}
        aria-disabled={!isChanged}
        aria-label={`Set ${setting.label}`}
      >
        Set
      </button>
    </form>
  );
}
