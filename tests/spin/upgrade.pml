/* A rolling upgrade for Spin, written by hand: the second opinion on protocol.upgrade.

   One run of pan covers every pair of rules, 3 to MAX members and three modes: all are picked first. What was
   found is kept in C, outside the state, and printed at the end, one line each:
       members old new mode least most dead loop
   Rules: 0 leader's version, 1 smallest supported not yet encoded, 2 smallest supported, 3 mirror, 4 proposal.
   Modes: 0 settled; and up to 5 members 1 interleaved, 2 a leader that rejoins is elected again. */

#ifdef ONLY
#define MAX 8 /* the benchmark: so many members, the shipped rules, settled */
#else
#define MAX 6
#endif
#define OLD 10
#define NEW 11

c_decl {
    static int least[9][5][5][3], most[9][5][5][3], dead[9][5][5][3], loop[9][5][5][3], began = 0;
    static void tell(void) {
        for (int n = 3; n <= MAX; n++)
            for (int a = 0; a < 5; a++)
                for (int z = 0; z < 5; z++)
                    for (int m = 0; m < 3; m++)
                        printf("row %d %d %d %d %d %d %d %d\n", n, a, z, m, least[n][a][z][m] - 1,
                               most[n][a][z][m] - 1, dead[n][a][z][m], loop[n][a][z][m]);
    }
}

byte n, old, new, mode;
byte b[MAX], u[MAX];
bool alive[MAX];
byte leader, cost, since, todo;
bool due, again, rejoined;

/* scratch: hidden from the state */
hidden byte i, L, minR, minS, v, s, rule, count, future;

inline elect() {
    /* anybody alive leads, whoever is worst */
    if
    :: alive[0] -> leader = 0
    :: alive[1] -> leader = 1
    :: alive[2] -> leader = 2
    :: alive[3] -> leader = 3
    :: alive[4] -> leader = 4
    :: alive[5] -> leader = 5
#ifdef ONLY
    :: alive[6] -> leader = 6
    :: alive[7] -> leader = 7
#endif
    fi;
    skip
}

inline note_dead() {
    count = 0;
    for (i : 0 .. n - 1) { if :: !alive[i] -> count++ :: else fi }
    c_code { int *d = &dead[now.n][now.old][now.new][now.mode]; if (count > *d) *d = count; }
}

inline answer() {
    /* what the leader makes of all, and what each makes of that */
    L = b[leader]; minR = L; minS = L; future = 0;
    for (i : 0 .. n - 1) {
        if
        :: alive[i] && u[i] > L -> future = 1
        :: alive[i] && u[i] <= L ->
            if :: u[i] < minR -> minR = u[i] :: else fi;
            if :: b[i] < minS -> minS = b[i] :: else fi
        :: else
        fi
    }
    rule = (b[leader] == OLD -> old : new);
    again = false; rejoined = false;
    /* the leader's rule is read before anybody changes, so its answer to each is worked out from u and b alone */
    for (i : 0 .. n - 1) {
        if
        :: alive[i] ->
            if
            :: rule == 0 && u[i] > L -> v = L; s = L
            :: rule == 0 && u[i] <= L -> v = minR; s = L
            :: rule == 1 -> v = minR; s = L
            :: rule == 2 -> v = minR; s = minS
            :: rule == 3 && future == 0 && minR < minS && minS == L -> v = minS; s = L
            :: rule == 4 && future == 0 && minR < minS -> v = minS; s = L
            :: else -> v = (u[i] > L -> L : u[i]); s = L
            fi;
            call_member()
        :: else
        fi
    }
}

inline call_member() {
    count = (b[i] == OLD -> old : new);
    if
    :: v > b[i] -> alive[i] = false; again = true
    :: v <= b[i] && count == 0 ->
        if
        :: v > u[i] -> alive[i] = false; again = true
        :: v < u[i] -> u[i] = (v == s -> v : s); again = true; if :: i == leader -> rejoined = true :: else fi
        :: v == u[i] && s > u[i] -> u[i] = s
        :: else
        fi
    :: v <= b[i] && (count == 1 || count == 2) ->
        if
        :: v > u[i] || s > b[i] -> alive[i] = false; again = true
        :: v <= u[i] && s <= b[i] && (s > u[i] || v < u[i]) ->
            u[i] = s; again = true; if :: i == leader -> rejoined = true :: else fi
        :: else
        fi
    :: v <= b[i] && count == 3 ->
        if
        :: v != u[i] -> u[i] = v; again = true; if :: i == leader -> rejoined = true :: else fi
        :: else
        fi
    :: v <= b[i] && count == 4 ->
        if
        :: v > u[i] || (v < u[i] && v == s) ->
            u[i] = s; again = true; if :: i == leader -> rejoined = true :: else fi
        :: v < u[i] && v != s -> alive[i] = false; again = true
        :: else
        fi
    fi
}

init {
    byte who;
    atomic {
        c_code { if (!began) { began = 1; atexit(tell); } };
#ifdef ONLY
        n = ONLY; old = 2; new = 2;
#else
        n = 3; do :: n < MAX -> n++ :: break od;
        do :: old < 4 -> old++ :: break od;
        do :: new < 4 -> new++ :: break od;
        if
        :: mode = 0
        :: n <= 5 -> mode = 1
        :: n <= 5 -> mode = 2
        fi;
#endif
        d_step { for (i : 0 .. n - 1) { b[i] = OLD; u[i] = OLD; alive[i] = true } };
        todo = n;
        elect()
    }
end:
    do
    :: atomic {
        due ->
        if
        :: since > 3 * n + 3 ->
            c_code { loop[now.n][now.old][now.new][now.mode] = 1; };
            break
        :: else
        fi;
        cost++; since++;
        skip;
        d_step {
            /* who cannot encode its subscription never joins */
            for (i : 0 .. n - 1) { if :: alive[i] && u[i] > b[i] -> alive[i] = false :: else fi };
            note_dead()
        };
        if
        :: count == n -> due = false; leader = 0
        :: count < n ->
            if :: !alive[leader] -> elect() :: else fi;
            skip;
            d_step { answer(); note_dead(); due = again && count < n };
            if
            :: count < n && (!alive[leader] || (mode == 2 && rejoined)) -> elect()
            :: else
            fi
        fi;
        again = false; rejoined = false
    }
    :: atomic {
        !due || mode == 1 ->
        /* the operator bounces anybody who is still to do */
        who = 0;
        do
        :: who < n && b[who] == OLD -> break
        :: who < n -> who++
        :: who == n -> break
        od;
        if
        :: who == n -> skip
        :: who < n ->
            since = 0;
            count = 0;
            for (i : 0 .. n - 1) { if :: alive[i] -> count++ :: else fi };
            b[who] = NEW; u[who] = NEW; todo--;
            if
            :: count == 0 -> leader = who; alive[who] = true
            :: count > 0 && !alive[who] -> alive[who] = true
            :: count > 0 && alive[who] -> if :: leader == who -> elect() :: else fi
            fi;
            due = true
        fi;
        who = 0
    }
    :: atomic {
        !due && todo == 0 ->
        c_code {
            int *low = &least[now.n][now.old][now.new][now.mode], *high = &most[now.n][now.old][now.new][now.mode];
            if (!*low || now.cost + 1 < *low) *low = now.cost + 1;
            if (now.cost + 1 > *high) *high = now.cost + 1;
        };
        break
    }
    od
}
