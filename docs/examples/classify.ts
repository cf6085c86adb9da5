import { throttle } from 'headgate';
import { of } from 'rxjs';

let calls = 0;
const send = async (prompt: string) => {
  if (++calls === 1) throw new Error('busy, come back');
  return prompt;
};

of('hello')
  .pipe(
    throttle(send, {
      // 'overloaded' makes this request alone wait, 'throttled' everyone; undefined: the default
      classify: (error) => (String(error).includes('busy') ? { kind: 'overloaded' } : undefined),
    }),
  )
  .subscribe((answer) => console.log(answer, calls)); // hello 2
